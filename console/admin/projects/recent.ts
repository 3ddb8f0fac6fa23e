import { settings } from '../settings.ts';
import { store, stored } from '../ui/storage.ts';

/** Projects that the account last visited in this browser, newest first. */
export interface Recent {
  id: string;
  name: string;
}

const key = `latchkey.recent-projects.${settings.account}`;
const kept = 5;

export function recentProjects(): Recent[] {
  const list = stored(key);
  return Array.isArray(list) ? list.filter((one) => typeof one?.id === 'string' && typeof one?.name === 'string') : [];
}

export function remember({ id, name }: Recent): void {
  const [first] = recentProjects();
  if (first?.id === id && first.name === name) return;
  store(key, [{ id, name }, ...recentProjects().filter((one) => one.id !== id)].slice(0, kept));
}

export function forget(id: string): void {
  store(
    key,
    recentProjects().filter((one) => one.id !== id),
  );
}
