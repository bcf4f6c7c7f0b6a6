/**
 * keccak-256 as the chain uses it (the padding of the competition, not that of SHA-3), by the language alone: no runtime
 * has it built in. A lane of 64 bits is two words of 32, the lower one first, because a bigint takes a hundred times as
 * long.
 */

/** Bytes taken in at a time. */
const RATE_BYTES = 136;
const ROUNDS = 24;
const LANES = 25;

/** In which order the lanes change places, and how far each is rotated on the way. */
const journey = planJourney();
/** What each round adds to the first lane, lower word first. */
const roundConstants = drawRoundConstants();

/** Lane of column `x` and row `y`. */
function laneAt(x: number, y: number): number {
  return (x % 5) + 5 * (y % 5);
}

function planJourney(): readonly { readonly lane: number; readonly bits: number }[] {
  let [x, y] = [1, 0];
  return Array.from({ length: ROUNDS }, (_, step) => {
    [x, y] = [y, (2 * x + 3 * y) % 5];
    return { lane: laneAt(x, y), bits: (((step + 1) * (step + 2)) / 2) % 64 };
  });
}

/** From a shift register of eight bits: seven draws a round, for the bits 0, 1, 3, 7, 15, 31 and 63. */
function drawRoundConstants(): Uint32Array {
  const constants = new Uint32Array(2 * ROUNDS);
  let register = 1;
  for (let round = 0; round < ROUNDS; round++) {
    for (let draw = 0; draw < 7; draw++) {
      const bit = 2 ** draw - 1;
      const word = 2 * round + (bit < 32 ? 0 : 1);
      if ((register & 1) === 1) constants[word] = (constants[word] as number) | (1 << (bit % 32));
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
  }
  return constants;
}

/** The lower word of a lane rotated to the left; with the words swapped, the upper one. */
function rotated(low: number, high: number, bits: number): number {
  if (bits === 0) return low;
  if (bits < 32) return (low << bits) | (high >>> (32 - bits));
  if (bits === 32) return high;
  return (high << (bits - 32)) | (low >>> (64 - bits));
}

/** The permutation keccak-f[1600], in place. `columns` is room to work in, of ten words. */
function permute(state: Uint32Array, columns: Uint32Array): void {
  const word = (index: number) => state[index] as number;
  for (let round = 0; round < ROUNDS; round++) {
    for (let index = 0; index < 10; index++) {
      columns[index] =
        word(index) ^ word(index + 10) ^ word(index + 20) ^ word(index + 30) ^ word(index + 40);
    }
    for (let x = 0; x < 5; x++) {
      const left = 2 * ((x + 4) % 5);
      const right = 2 * ((x + 1) % 5);
      const [low, high] = [columns[right] as number, columns[right + 1] as number];
      const mixedLow = (columns[left] as number) ^ rotated(low, high, 1);
      const mixedHigh = (columns[left + 1] as number) ^ rotated(high, low, 1);
      for (let index = 2 * x; index < 2 * LANES; index += 10) {
        state[index] = word(index) ^ mixedLow;
        state[index + 1] = word(index + 1) ^ mixedHigh;
      }
    }

    let [low, high] = [word(2), word(3)];
    for (const { lane, bits } of journey) {
      const [nextLow, nextHigh] = [word(2 * lane), word(2 * lane + 1)];
      state[2 * lane] = rotated(low, high, bits);
      state[2 * lane + 1] = rotated(high, low, bits);
      [low, high] = [nextLow, nextHigh];
    }

    for (let row = 0; row < 2 * LANES; row += 10) {
      columns.set(state.subarray(row, row + 10));
      for (let index = 0; index < 10; index++) {
        const next = columns[(index + 2) % 10] as number;
        state[row + index] = (columns[index] as number) ^ (~next & (columns[(index + 4) % 10] as number));
      }
    }

    state[0] = word(0) ^ (roundConstants[2 * round] as number);
    state[1] = word(1) ^ (roundConstants[2 * round + 1] as number);
  }
}

/** keccak-256 of the bytes, 32 bytes. */
export function keccak256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor(message.length / RATE_BYTES) + 1) * RATE_BYTES);
  padded.set(message);
  padded[message.length] = 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80;

  const view = new DataView(padded.buffer);
  const state = new Uint32Array(2 * LANES);
  const columns = new Uint32Array(10);
  for (let offset = 0; offset < padded.length; offset += RATE_BYTES) {
    for (let index = 0; index < RATE_BYTES / 4; index++) {
      state[index] = (state[index] as number) ^ view.getUint32(offset + 4 * index, true);
    }
    permute(state, columns);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let index = 0; index < 8; index++) digest.setUint32(4 * index, state[index] as number, true);
  return new Uint8Array(digest.buffer);
}
