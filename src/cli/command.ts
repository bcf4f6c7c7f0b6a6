import type { Command } from 'commander';
import type { OperationArguments } from './operations-context.ts';
import { listColumns, printResult } from './present.ts';

export interface OperationRunner {
  /** Runs an operation in the running server, or on the store itself without one. */
  runOperation(name: string, args: OperationArguments): Promise<unknown>;
}

/** Adds a command with an action and --json. */
export function leaf(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON');
}

/** Creates an action that prints the result of a function of the command's arguments. */
export function printed(run: (...args: string[]) => Promise<unknown>) {
  return async function (this: Command): Promise<void> {
    printResult(await run(...this.args), this.opts());
  };
}

interface OperationOptions {
  /** Overrides the command's name as operation, and adds fixed arguments. */
  readonly name?: string;
  readonly fixed?: OperationArguments;
  /** May set the exit code by the result. */
  readonly checkResult?: (result: unknown) => void;
}

/**
 * Adds commands that run the operation of their name, such as `payment show`, with the command's argument and options
 * by name. `usage` is the command with its argument, such as `show <payment>`.
 */
export function operationsOf(parent: Command, services: OperationRunner) {
  return (
    usage: string,
    description: string,
    { name, fixed = {}, checkResult = () => {} }: OperationOptions = {},
  ): Command => {
    const command = leaf(parent, usage, description);
    const path = parent.parent === null ? command.name() : `${parent.name()} ${command.name()}`;
    return command.action(async () => {
      const args: Record<string, string | boolean | undefined> = { ...fixed };
      for (const [index, declared] of command.registeredArguments.entries()) {
        args[declared.name()] = command.args[index];
      }
      for (const option of command.options) {
        const name = option.long?.replace(option.negate ? '--no-' : '--', '') ?? option.name();
        args[name] = command.getOptionValue(option.attributeName());
      }
      const { json, ...rest } = args;
      const result = await services.runOperation(name ?? path, rest);
      printResult(result, { json: json === true, columns: listColumns[path] });
      checkResult(result);
    });
  };
}
