export interface Release {
  /** Its date, and the folder of its fixture. */
  name: string;
  commit: string;
}

/** The last commit before release 1.0, which upgrades its databases. */
export const beforeFirst: Release = { name: '2026-11-29', commit: '5ffac696ba03b15aa472ad6adbade48f10f2c9bf' };

/** Each with a filled database: `node e2e/upgrade/main.ts <name>`. */
export const releases: readonly Release[] = [beforeFirst];
