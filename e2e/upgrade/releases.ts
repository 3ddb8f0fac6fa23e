export interface Release {
  /** Its date, and the folder of its fixture. */
  name: string;
  commit: string;
}

/** A day before the first release, without a filled database: most migrations are pending on its schema. */
export const firstDay: Release = { name: '2026-11-21', commit: 'f6f0aeb2ea1ed886d363d26f8b65e203d6ae2565' };

/** The last one before online migrations, and before keys of tenants. */
export const firstRelease: Release = { name: '2026-11-22', commit: '96f25226f34af654185942cc306c559ff0b5f432' };

/** Each with a filled database: `node e2e/upgrade/main.ts <name>`. */
export const releases: readonly Release[] = [firstRelease];
