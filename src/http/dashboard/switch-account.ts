import { chooseAccount } from '../../accounts/choose-account.ts';
import type { DashboardRoutes } from './context.ts';
import { dashboardForm, seeOther } from './dashboard-page.ts';

/** Goes to another of the user's accounts. */
export function registerAccountSwitcher(routes: DashboardRoutes): void {
  dashboardForm(routes, {
    path: '/account',
    section: null,
    role: 'viewer',
    act: async (visit, form) => {
      await chooseAccount(routes.context, visit, form.text('account'), visit.actor);
      return seeOther('');
    },
  });
}
