import type { Area } from '../dashboard/area.ts';

/** The operator's console, on the admin port. */
export const operatorArea: Area = {
  name: 'operator',
  path: '/operator',
  signInTitle: 'Operator’s console',
  help: 'Ask whoever runs the command line of this service',
  hasForgottenPage: false,
};

/** All of the console is below it. */
export const OPERATOR_PATH = operatorArea.path;
