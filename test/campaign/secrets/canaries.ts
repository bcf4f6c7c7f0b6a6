/** A text that must not turn up where it does not belong. */
export interface Canary {
  /** What it is, for the report; never the text itself. */
  readonly name: string;
  readonly kind: CanaryKind;
  /** The part of it that nobody can guess, at least 20 characters that mean nothing by themselves. */
  readonly secret: string;
}

/** `key` opens something, `token` signs; the others are private. */
export type CanaryKind = 'key' | 'token' | 'email' | 'note' | 'callback';

/** Fewer than these in a row may be chance, or what is shown on purpose such as a key's last four. */
const FRAGMENT_CHARACTERS = 12;

/** Looks for canaries in texts: as they are, or in hex or base 64, and for any twelve characters of them in a row. */
export interface CanarySearch {
  add(canary: Canary): void;
  /** The names of those found, and what stands around the first of each. */
  find(text: string, kinds?: ReadonlySet<CanaryKind>): readonly { name: string; around: string }[];
  readonly canaries: readonly Canary[];
}

export function createCanarySearch(): CanarySearch {
  const canaries: Canary[] = [];
  const owners = new Map<string, Canary>();
  return {
    canaries,
    add(canary) {
      if (canary.secret.length < 20)
        throw new RangeError(`${canary.name} is too short to be told from chance`);
      canaries.push(canary);
      for (const text of spellingsOf(canary.secret)) {
        for (let start = 0; start + FRAGMENT_CHARACTERS <= text.length; start++) {
          owners.set(text.slice(start, start + FRAGMENT_CHARACTERS), canary);
        }
      }
    },
    find(text, kinds) {
      const found = new Map<string, string>();
      const lower = text.toLowerCase();
      for (let start = 0; start + FRAGMENT_CHARACTERS <= text.length; start++) {
        const end = start + FRAGMENT_CHARACTERS;
        const owner = owners.get(text.slice(start, end)) ?? owners.get(lower.slice(start, end));
        if (owner === undefined || found.has(owner.name) || kinds?.has(owner.kind) === false) continue;
        found.set(owner.name, text.slice(Math.max(0, start - 120), end + 20));
      }
      return [...found].map(([name, around]) => ({ name, around }));
    },
  };
}

/** Ways to write a text down that do not hide it. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].flatMap((shift) => {
    // Base 64 of a text depends on where in a longer text it stands; its ends mix with what is beside them.
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(4, -2);
    return [encoded, encoded.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, secret.toLowerCase(), bytes.toString('hex'), ...shifted];
}

/** A text of letters and digits from a seeded source. */
export function drawSecret(random: () => number, characters = 32): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  return Array.from({ length: characters }, () => letters[Math.floor(random() * letters.length)]).join('');
}
