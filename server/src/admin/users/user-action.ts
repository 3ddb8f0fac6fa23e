/** Actions on one or more users. */
export const userActions = ['activate', 'deactivate', 'end-sessions', 'reset-factors', 'erase'] as const;
export type UserAction = (typeof userActions)[number];
