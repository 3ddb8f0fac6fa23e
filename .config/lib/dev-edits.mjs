import { readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Editors write several files, or one in several steps. */
const SETTLE_MS = 50;

/**
 * Calls `act` with the path of each file that is written, replaced or deleted and whose name matches, also in new
 * folders. One watch per folder: a watch on a file misses the second of two quick replacements.
 */
export function onEdit(folder, names, act) {
  const actOn = (path) => names.test(path) && act(path);
  watch(folder, (event, name) => {
    const path = join(folder, name ?? '');
    const isFolder = event === 'rename' && statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (!isFolder) return actOn(path);
    onEdit(path, names, act);
    for (const inside of readdirSync(path, { recursive: true })) actOn(join(path, inside));
  });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) onEdit(join(folder, entry.name), names, act);
  }
}

/** Debounces `act`: one call at a time; calls in the meantime cause one more. */
export function inTurn(act) {
  let isBusy = false;
  let isDue = false;
  return async () => {
    isDue = true;
    if (isBusy) return;
    isBusy = true;
    while (isDue) {
      await pause(SETTLE_MS);
      isDue = false;
      await act();
    }
    isBusy = false;
  };
}
