/** A compiled contract, as contracts/artifacts/<name>.json has it. Bytes are 0x-prefixed hex. */
interface ContractArtifact {
  readonly contractName: string;
  /** The code that deploys it, without constructor arguments. */
  readonly bytecode: string;
  /** The code on chain, with zeros where the immutable values go. */
  readonly deployedBytecode: string;
  /** Where each immutable value goes; offsets and lengths in bytes. */
  readonly immutables: Readonly<
    Record<string, readonly { readonly start: number; readonly length: number }[]>
  >;
}

/**
 * The exact code on chain of a contract with these immutable values. Throws `RangeError` when values are missing or
 * too many, so that a new immutable in the contract cannot go unchecked.
 */
export function runtimeCode(
  artifact: ContractArtifact,
  values: Readonly<Record<string, bigint>>,
): `0x${string}` {
  const names = Object.keys(artifact.immutables);
  if (names.length !== Object.keys(values).length) {
    throw new RangeError(`${artifact.contractName} has the immutable values ${names.join(', ')}`);
  }
  const code = Buffer.from(artifact.deployedBytecode.slice(2), 'hex');
  for (const name of names) {
    const value = values[name];
    if (value === undefined) throw new RangeError(`${artifact.contractName} needs a value for ${name}`);
    for (const { start, length } of artifact.immutables[name] ?? []) {
      code.write(value.toString(16).padStart(length * 2, '0'), start, length, 'hex');
    }
  }
  return `0x${code.toString('hex')}`;
}
