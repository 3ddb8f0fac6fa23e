import { element, type Page } from './page.ts';

/** Shows recovery codes once, with copy, download and print, and continues after confirmation. */
export function showRecoveryCodes(page: Page, codes: string[], onContinue: () => void): void {
  const list = codes.map((code) => {
    const item = document.createElement('li');
    item.textContent = code;
    return item;
  });
  element('codes').replaceChildren(...list);
  const text = `${page.text('recovery.file')}\n${location.origin}\n\n${codes.join('\n')}\n`;

  const copy = element('codes-copy');
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = page.text('page.copied');
  });
  const download = element<HTMLAnchorElement>('codes-download');
  download.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  download.download = `${page.text('recovery.file')}.txt`;
  element('codes-print').addEventListener('click', () => print());

  // Warn before unload: the codes are shown only once.
  const guard = new AbortController();
  addEventListener('beforeunload', (event) => event.preventDefault(), { signal: guard.signal });
  element('recovery-codes').addEventListener('submit', (event) => {
    event.preventDefault();
    guard.abort();
    onContinue();
  });
  page.show('recovery-codes');
}
