/** What admins do to users, to one or to many at once. */
export const userActions = ['activate', 'deactivate', 'end-sessions', 'reset-factors', 'erase'] as const;
export type UserAction = (typeof userActions)[number];
