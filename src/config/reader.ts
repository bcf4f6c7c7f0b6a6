import { readFileSync } from 'node:fs';
import { type Address, parsePayoutAddress } from '../payment/address.ts';
import { parsePercentBasisPoints } from '../payment/money.ts';
import { variables } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Reader = ReturnType<typeof createReader>;

/** Creates a reader of single variables. It collects problems, so that an operator sees them all together. */
export function createReader(environment: Environment) {
  const problems: string[] = [];
  const refuse = (problem: string) => void problems.push(problem);
  const known = new Map(variables.map((variable) => [variable.name, variable]));

  function text(name: string): string | null {
    const variable = known.get(name);
    if (variable === undefined) throw new Error(`${name} is not in the list of variables`);
    const direct = environment[name]?.trim() || null;
    const file = variable.isSecret ? environment[`${name}_FILE`]?.trim() || null : null;
    if (file === null) return direct;
    if (direct !== null) refuse(`${name} and ${name}_FILE are both set: set one of them.`);
    return fileText(`${name}_FILE`, file)?.trim() || null;
  }

  function fileText(name: string, path: string): string | null {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      refuse(`${name} cannot be read (${codeOf(error)}).`);
      return null;
    }
  }

  function list(name: string): string[] {
    return (text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }

  function integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const value = text(name);
    if (value === null) return fallback;
    if (/^\d{1,9}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum) return Number(value);
    refuse(`${name} must be a whole number from ${minimum} to ${maximum}.`);
    return fallback;
  }

  function oneOf<const Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const value = text(name);
    if (value === null) return fallback;
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) refuse(`${name} must be one of ${values.join(', ')}.`);
    return found ?? fallback;
  }

  function address(name: string): Address | null {
    const value = text(name);
    if (value === null) return null;
    const parsed = parsePayoutAddress(value);
    if (parsed === null) refuse(`${name} must be a non-zero address (0x…) with a valid checksum.`);
    return parsed;
  }

  /** Reads a percentage as basis points; null if there is neither a value nor a fallback. */
  function percent<Fallback extends number | null>(
    name: string,
    fallback: Fallback,
    minimum: number,
    maximum: number,
  ): number | Fallback {
    const value = text(name);
    if (value === null) return fallback;
    const basisPoints = parsePercentBasisPoints(value);
    if (basisPoints !== null && basisPoints >= minimum && basisPoints <= maximum) return basisPoints;
    refuse(
      `${name} must be a percentage from ${minimum / 100} to ${maximum / 100} with at most two decimals.`,
    );
    return fallback;
  }

  return { problems, refuse, text, file: fileText, list, integer, oneOf, address, percent };
}

/** Returns the code of an error. Unlike the message, the code does not quote the value. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
