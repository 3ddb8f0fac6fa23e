/** The dev mailbox: polls GET /setup/mailbox.json. */
import { fetchTexts, fill } from './texts.ts';

type Message = { id: string; at: string; channel: string; to: string; subject: string | null; text: string };

const refreshMilliseconds = 1_500;
const element = (id: string) => document.getElementById(id) as HTMLElement;
const texts = await fetchTexts(document.body.dataset['messages']!);
const text = (key: string, values?: Record<string, string>) => fill(texts, key, values);
const shown = new Set<string>();

async function refresh(): Promise<void> {
  const stale = element('stale');
  try {
    const response = await fetch('/setup/mailbox.json', { cache: 'no-store' });
    if ([401, 403, 404, 410].includes(response.status)) {
      stale.textContent = text('mailbox.closed');
      stale.hidden = false;
      return;
    }
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const { messages } = (await response.json()) as { messages: Message[] };
    show(messages);
    stale.hidden = true;
  } catch {
    if (stale.hidden) stale.textContent = text('mailbox.stale');
    stale.hidden = false;
  }
  setTimeout(refresh, refreshMilliseconds);
}

function show(messages: Message[]): void {
  const first = shown.size === 0;
  const list = element('messages');
  const oldestFirst = messages.filter(({ id }) => !shown.has(id)).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  for (const message of oldestFirst) {
    shown.add(message.id);
    const item = draw(message);
    if (!first) item.classList.add('fresh');
    list.prepend(item);
  }
  element('empty').hidden = shown.size > 0;
}

function draw({ at, channel, to, subject, text: body }: Message): HTMLElement {
  const item = (element('message') as HTMLTemplateElement).content.firstElementChild!.cloneNode(true) as HTMLElement;
  const part = <T extends HTMLElement>(selector: string) => item.querySelector<T>(selector)!;
  const date = new Date(at);
  const day = date.toDateString() === new Date().toDateString() ? {} : ({ dateStyle: 'medium' } as const);
  part('.channel').textContent = text(channel === 'sms' ? 'mailbox.sms' : 'mailbox.email');
  part<HTMLTimeElement>('time').dateTime = at;
  part('time').textContent = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', ...day }).format(date);
  part('h2').textContent = subject || body.split('\n')[0]!;
  part('.to').textContent = text('mailbox.to', { to });
  part('pre').textContent = body;
  // Not digits of an address or an id.
  const code = /(?<![\w/-])(?:\d{3} ?\d{3}|[0-9A-Z]{5}-[0-9A-Z]{5})(?![\w-])/
    .exec(body.replaceAll(/https?:\S+/g, ''))?.[0]
    .replace(' ', '');
  if (code) {
    part('.digits-row').hidden = false;
    part('output').textContent = code;
    const copy = part<HTMLButtonElement>('button');
    copy.ariaLabel = text('mailbox.copyCode', { code });
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code);
      copy.ariaLabel = copy.textContent = text('page.copied');
    });
  }
  return item;
}

await refresh();
