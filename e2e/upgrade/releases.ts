export interface Release {
  /** Its date, and the folder of its fixture. */
  name: string;
  commit: string;
}

/** The last one before online migrations, and before keys of tenants. */
export const firstRelease: Release = { name: '2026-11-22', commit: '96f25226f34af654185942cc306c559ff0b5f432' };

/** Each with a filled database: `node e2e/upgrade/main.ts <name>`. */
export const releases: readonly Release[] = [firstRelease];
