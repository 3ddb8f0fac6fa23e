import type { Direction, UserFilter, UserOrder } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { filterOptions } from '../ui/lists/list-bar.tsx';

/** Filters of the list by URL parameter. */
export const userFilters = [
  {
    name: 'state',
    label: t('Status'),
    options: filterOptions(t('Any status'), { active: t('Active'), inactive: t('Deactivated') }),
  },
  {
    name: 'provenance',
    label: t('Source'),
    options: filterOptions(t('Any source'), { SCIM: t('Directory'), LOCAL: t('Local') }),
  },
  {
    name: 'factor',
    label: t('Second factor'),
    options: filterOptions(t('Any second factor'), { yes: t('With a second factor'), no: t('Without one') }),
  },
  {
    name: 'seen',
    label: t('Last sign-in'),
    options: filterOptions(t('Any last sign-in'), {
      week: t('In the last 7 days'),
      month: t('In the last 30 days'),
      quiet: t('Not in 90 days'),
      never: t('Never'),
      invited: t('Never, invited'),
    }),
  },
];

export const filterNames = userFilters.map(({ name }) => name);

type Get = (name: string) => string | undefined;

const daysAgo = (days: number) => {
  const at = new Date();
  // Round to the hour, so that rerenders send the same query.
  at.setMinutes(0, 0, 0);
  at.setDate(at.getDate() - days);
  return at.toISOString();
};

/** The filter from the URL; unknown values are ignored. */
export function filterOf(get: Get): UserFilter {
  const [state, provenance, factor, seen] = filterNames.map(get);
  return {
    ...(state === 'active' || state === 'inactive' ? { active: state === 'active' } : {}),
    ...(provenance === 'SCIM' || provenance === 'LOCAL' ? { provenance } : {}),
    ...(factor === 'yes' || factor === 'no' ? { hasFactor: factor === 'yes' } : {}),
    ...(seen === 'never' ? { hasSignedIn: false } : {}),
    ...(seen === 'invited' ? { isInvited: true } : {}),
    ...(seen === 'week' ? { signedInSince: daysAgo(7) } : {}),
    ...(seen === 'month' ? { signedInSince: daysAgo(30) } : {}),
    ...(seen === 'quiet' ? { notSignedInSince: daysAgo(90) } : {}),
  };
}

/** The export's URL with the same filter. */
export function exportAddress(
  projectId: string,
  format: string,
  search: string | undefined,
  filter: UserFilter,
): string {
  const query = new URLSearchParams({ project: projectId, format });
  const set = (name: string, value: unknown) => {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  };
  set('search', search);
  set('active', filter.active);
  set('provenance', filter.provenance?.toLowerCase());
  set('has_factor', filter.hasFactor);
  set('has_signed_in', filter.hasSignedIn);
  set('is_invited', filter.isInvited);
  set('signed_in_since', filter.signedInSince);
  set('not_signed_in_since', filter.notSignedInSince);
  return `/admin/export/users?${query}`;
}

export interface Sorting {
  orderBy: UserOrder;
  direction: Direction;
}

/** Sort orders by URL value; the first is the default. */
const sortings: Record<string, Sorting> = {
  newest: { orderBy: 'CREATED', direction: 'DESC' },
  oldest: { orderBy: 'CREATED', direction: 'ASC' },
  name: { orderBy: 'NAME', direction: 'ASC' },
  'name-desc': { orderBy: 'NAME', direction: 'DESC' },
  'user-name': { orderBy: 'USER_NAME', direction: 'ASC' },
  'user-name-desc': { orderBy: 'USER_NAME', direction: 'DESC' },
  email: { orderBy: 'EMAIL', direction: 'ASC' },
  'email-desc': { orderBy: 'EMAIL', direction: 'DESC' },
  seen: { orderBy: 'LAST_SIGN_IN', direction: 'DESC' },
  'seen-asc': { orderBy: 'LAST_SIGN_IN', direction: 'ASC' },
};

export function sortingOf(name: string | undefined): Sorting {
  return sortings[name ?? 'newest'] ?? (sortings['newest'] as Sorting);
}

/** The next sort order after a click on a column header. */
export function nextSorting(orderBy: UserOrder, now: Sorting): string {
  const ways = Object.entries(sortings).filter(([, sorting]) => sorting.orderBy === orderBy);
  const other = now.orderBy === orderBy ? ways.find(([, { direction }]) => direction !== now.direction) : ways[0];
  return other?.[0] ?? 'newest';
}
