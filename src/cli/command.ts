import type { Command } from 'commander';
import type { OperationArguments } from './operations-context.ts';
import { printResult } from './present.ts';

/** The executors of commands. */
export interface OperationRunner {
  /** Runs an operation in the running server, or on the store itself without one. */
  runOperation(name: string, args: OperationArguments): Promise<unknown>;
}

/** A command with an action; every one of them takes --json. */
export function leaf(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON');
}

/**
 * Connects a command to an operation: its argument and options become the operation's arguments by their names.
 * `checkResult` may set the exit code by the result.
 */
export function operation(
  command: Command,
  services: OperationRunner,
  name: string,
  fixed: OperationArguments = {},
  checkResult: (result: unknown) => void = () => {},
): Command {
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
    const result = await services.runOperation(name, rest);
    printResult(result, { json: json === true });
    checkResult(result);
  });
}
