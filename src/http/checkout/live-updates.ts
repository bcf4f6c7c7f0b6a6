import type { LanguageCode } from './languages.ts';

/** What is sent to an open page: the whole content, as the poll would give it. */
export interface LiveContent {
  readonly revision: string;
  /** JSON of the content in one line. */
  readonly text: string;
  /** Nothing changes any more on its own: the stream ends with this. */
  readonly isLast: boolean;
}

/** Reads what a page shows now; null when its payment is gone. */
export type ReadLiveContent = (paymentId: string, language: LanguageCode) => Promise<LiveContent | null>;

/** Someone who looks at an open page. */
export interface Viewer {
  readonly paymentId: string;
  readonly language: LanguageCode;
  /** Who they are for the limit on one address. */
  readonly address: string;
  /** What the page already shows. */
  readonly revision: string;
  send(content: LiveContent): void;
  /** Nothing more will come; the page asks by itself from then on, unless it has all. */
  end(): void;
}

/** Open pages that are told of changes. */
export interface LiveUpdates {
  /** Takes a viewer in and returns how to leave; null when there are too many, and the page has to poll. */
  follow(viewer: Viewer): (() => void) | null;
  /** Ends all streams: the server is about to close. */
  close(): void;
}

export interface LiveUpdatesOptions {
  readonly read: ReadLiveContent;
  /** How often an open page's payment is looked at. */
  readonly everyMs: number;
  readonly maximumViewers: number;
  readonly maximumViewersOfAddress: number;
  readonly onError: (error: unknown) => void;
}

/** All who look at one payment in one language: it is read once for them all. */
interface Watch {
  readonly viewers: Map<Viewer, string>;
  timer: NodeJS.Timeout | null;
}

/** Tells open pages what has become of their payments; one read for each payment and language that is looked at. */
export function createLiveUpdates(options: LiveUpdatesOptions): LiveUpdates {
  const watches = new Map<string, Watch>();
  const perAddress = new Map<string, number>();
  let count = 0;

  function leave(key: string, viewer: Viewer): void {
    const watch = watches.get(key);
    if (watch?.viewers.delete(viewer) !== true) return;
    count--;
    const rest = (perAddress.get(viewer.address) ?? 1) - 1;
    if (rest === 0) perAddress.delete(viewer.address);
    else perAddress.set(viewer.address, rest);
    if (watch.viewers.size > 0) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    watches.delete(key);
  }

  async function look(key: string, paymentId: string, language: LanguageCode): Promise<void> {
    const watch = watches.get(key);
    if (watch === undefined) return;
    const content = await options.read(paymentId, language).catch((error: unknown) => {
      options.onError(error);
      return undefined;
    });
    for (const [viewer, revision] of watch.viewers) {
      if (content === undefined) continue;
      if (content !== null && content.revision !== revision) {
        watch.viewers.set(viewer, content.revision);
        viewer.send(content);
      }
      if (content === null || content.isLast) end(key, viewer);
    }
    if (watches.get(key) !== watch) return;
    watch.timer = setTimeout(() => void look(key, paymentId, language), options.everyMs);
  }

  function end(key: string, viewer: Viewer): void {
    leave(key, viewer);
    viewer.end();
  }

  return {
    follow(viewer) {
      const { paymentId, language, address } = viewer;
      const ofAddress = perAddress.get(address) ?? 0;
      if (count >= options.maximumViewers || ofAddress >= options.maximumViewersOfAddress) return null;
      count++;
      perAddress.set(address, ofAddress + 1);
      const key = `${paymentId} ${language}`;
      const watch = watches.get(key) ?? { viewers: new Map(), timer: null };
      watch.viewers.set(viewer, viewer.revision);
      if (!watches.has(key)) {
        watches.set(key, watch);
        watch.timer = setTimeout(() => void look(key, paymentId, language), options.everyMs);
      }
      return () => leave(key, viewer);
    },
    close() {
      for (const [key, { viewers }] of watches) for (const viewer of viewers.keys()) end(key, viewer);
    },
  };
}
