import type { Command } from 'commander';
import type { OperationArguments } from './operations-context.ts';
import { listColumns, printResult } from './present.ts';

export interface OperationRunner {
  /** Runs an operation in the running server, or on the store itself if no server runs. */
  runOperation(name: string, args: OperationArguments): Promise<unknown>;
}

export function leaf(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON');
}

/** Creates an action that calls a function with the command's arguments and prints the result. */
export function printed(run: (...args: string[]) => Promise<unknown>) {
  return async function (this: Command): Promise<void> {
    printResult(await run(...this.args), this.opts());
  };
}

interface OperationOptions {
  /** Name of the operation if it differs from the command's. `fixed` holds further arguments. */
  readonly name?: string;
  readonly fixed?: OperationArguments;
}

/**
 * Returns a function that adds a command for the operation of the same name, such as `payment show`. The operation gets
 * the command's arguments and options by name. `usage` is a command with its argument, such as `show <payment>`.
 */
export function operationsOf(parent: Command, services: OperationRunner) {
  return (usage: string, description: string, { name, fixed = {} }: OperationOptions = {}): Command => {
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
      const { is_fine, discrepancy_count = 0 } = result as { is_fine?: boolean; discrepancy_count?: number };
      if (is_fine === false || discrepancy_count > 0) process.exitCode = 1;
    });
  };
}
