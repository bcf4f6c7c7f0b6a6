import type { SessionArea } from '../../domain/dashboard-session.ts';
import { DASHBOARD_PATH } from './sections.ts';

/** A place that people sign in to, each by a cookie and sessions of its own. */
export interface Area {
  readonly name: Exclude<SessionArea, 'viewing'>;
  /** All of its pages are below it. */
  readonly path: '/dashboard' | '/operator';
  /** Above the form to sign in. */
  readonly signInTitle: string;
  /** Who helps those who cannot sign in. */
  readonly help: string;
  /** The link by which somebody sets a forgotten password is sent here, where e-mail is configured. */
  readonly hasForgottenPage: boolean;
}

export const dashboardArea: Area = {
  name: 'dashboard',
  path: DASHBOARD_PATH,
  signInTitle: 'Sign in',
  help: 'Ask the operator of this service',
  hasForgottenPage: true,
};
