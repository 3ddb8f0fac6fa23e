import type { Experiment } from './experiment.ts';
import { backupFidelity } from './experiments/backup-fidelity.ts';
import { cells } from './experiments/cells.ts';
import { citus } from './experiments/citus.ts';
import { clocks } from './experiments/clocks.ts';
import { clocksSetBack } from './experiments/clocks-set-back.ts';
import { connectionsEnded } from './experiments/connections-ended.ts';
import { databaseFrozen, databaseStopped } from './experiments/database-away.ts';
import { databaseMove } from './experiments/database-move.ts';
import { diskFull, walFull } from './experiments/disk-full.ts';
import { embeddedKilled } from './experiments/embedded-killed.ts';
import { failover } from './experiments/failover.ts';
import { flood } from './experiments/flood.ts';
import { fuzz } from './experiments/fuzz.ts';
import { hostileClients } from './experiments/hostile-clients.ts';
import { logoutKilled } from './experiments/logout-killed.ts';
import { mailBacklog } from './experiments/mail/mail-backlog.ts';
import { mailOutage } from './experiments/mail/mail-outage.ts';
import { mailSilent } from './experiments/mail/mail-silent.ts';
import { mailSlow } from './experiments/mail/mail-slow.ts';
import { restorePending } from './experiments/mail/restore-pending.ts';
import { mixedLoad } from './experiments/mixed-load.ts';
import { poolStarved } from './experiments/pool-starved.ts';
import { pooler, poolerSession } from './experiments/pooler.ts';
import { refreshKilled } from './experiments/refresh-killed.ts';
import { rollingRestart } from './experiments/rolling-restart.ts';
import { scimImport } from './experiments/scim-import.ts';
import { addressChanged, keysChanged } from './experiments/settings-changed.ts';
import { socketRestart } from './experiments/socket-restart.ts';
import { streamsKilled } from './experiments/streams-killed.ts';
import { upgrade } from './experiments/upgrade.ts';
import { webhooksHanging } from './experiments/webhooks-hanging.ts';
import { webhooksKilled } from './experiments/webhooks-killed.ts';

/** All experiments, in table order. */
export const experiments: readonly Experiment[] = [
  scimImport,
  logoutKilled,
  webhooksKilled,
  webhooksHanging,
  flood,
  streamsKilled,
  refreshKilled,
  databaseStopped,
  databaseFrozen,
  connectionsEnded,
  diskFull,
  walFull,
  embeddedKilled,
  backupFidelity,
  clocks,
  clocksSetBack,
  mailOutage,
  mailBacklog,
  mailSlow,
  mailSilent,
  restorePending,
  poolStarved,
  rollingRestart,
  socketRestart,
  keysChanged,
  addressChanged,
  upgrade,
  failover,
  databaseMove,
  pooler,
  poolerSession,
  cells,
  citus,
  hostileClients,
  fuzz,
  mixedLoad,
];
