/** Projects last visited in this browser, newest first. */
export interface Recent {
  id: string;
  name: string;
}

const key = 'latchkey.recent-projects';
const kept = 5;

export function recentProjects(): Recent[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(list)
      ? list.filter((one) => typeof one?.id === 'string' && typeof one?.name === 'string')
      : [];
  } catch {
    return [];
  }
}

export function remember({ id, name }: Recent): void {
  const [first] = recentProjects();
  if (first?.id === id && first.name === name) return;
  store([{ id, name }, ...recentProjects().filter((one) => one.id !== id)].slice(0, kept));
}

export function forget(id: string): void {
  store(recentProjects().filter((one) => one.id !== id));
}

function store(list: readonly Recent[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(list));
  } catch {
    // Storage unavailable: keep no history.
  }
}
