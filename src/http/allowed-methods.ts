/** Which methods are served at which paths, so that a wrong method is answered 405 and not 404. */
export interface AllowedMethods {
  /** Remembers a route, by the pattern it was registered with (`/pay/:id`). */
  add(pattern: string, methods: string | readonly string[]): void;
  /** The methods served at a path (without query), sorted; empty when nothing is served there. */
  at(path: string): readonly string[];
}

interface Entry {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** Asked only about requests that no route took, so a walk over the few patterns is fast enough. */
export function createAllowedMethods(): AllowedMethods {
  const entries = new Map<string, Entry>();
  return {
    add(pattern, methods) {
      const entry = entries.get(pattern) ?? { segments: pattern.split('/'), methods: new Set() };
      for (const method of [methods].flat()) entry.methods.add(method);
      entries.set(pattern, entry);
    },
    at(path) {
      const segments = path.split('/');
      const found = [...entries.values()].filter((entry) => matches(entry.segments, segments));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((segment, index) =>
    segment.startsWith(':') ? segments[index] !== '' : segment === segments[index],
  );
}
