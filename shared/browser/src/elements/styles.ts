const css = `
:host {
  color-scheme: light dark;
  display: block;
  max-width: 26rem;
  font: 1rem / 1.5 var(--latchkey-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  --accent: var(--latchkey-accent, light-dark(#2f55d4, #5b7ff0));
  --on-accent: var(--latchkey-on-accent, light-dark(#ffffff, #0b0e13));
  --link: var(--latchkey-link, light-dark(#2f55d4, #93adff));
  --text: var(--latchkey-text, light-dark(#15181d, #e9ecf0));
  --soft: var(--latchkey-soft, light-dark(#555e6b, #a3acb9));
  --card: var(--latchkey-card, light-dark(#ffffff, #161a21));
  --line: var(--latchkey-line, light-dark(#dfe2e7, #2a303a));
  --edge: var(--latchkey-edge, light-dark(#7d8694, #77818f));
  --bad: var(--latchkey-bad, light-dark(#b3261e, #ff9c94));
  --radius: var(--latchkey-radius, 0.5rem);
}
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
::selection { color: var(--on-accent); background: var(--accent); }
.card {
  display: flex;
  flex-direction: column;
  align-items: stretch;
  gap: 0.75rem;
  padding: 1.5rem;
  color: var(--text);
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: calc(var(--radius) * 1.5);
  overflow-wrap: anywhere;
}
h2, p, ul { margin: 0; }
.logo { display: block; max-width: 100%; height: 2.5rem; }
.title { font-size: 1.375rem; line-height: 1.25; font-weight: 650; }
.text, .hint, .choice-hint { color: var(--soft); }
.hint, .choice-hint { font-size: 0.875rem; }
.form, .field { display: flex; flex-direction: column; gap: 0.75rem; }
.field { gap: 0.25rem; }
.label { font-weight: 600; }
.input, .button, .choice { font: inherit; color: inherit; border-radius: var(--radius); min-height: 2.75rem; padding: 0.5rem 0.75rem; }
.input { background: var(--card); border: 1px solid var(--edge); width: 100%; }
.input[aria-invalid="true"] { border-color: var(--bad); }
.sharing { display: flex; gap: 0.5rem; align-items: center; min-height: 1.5rem; }
.checkbox { accent-color: var(--accent); width: 1.125rem; height: 1.125rem; }
.button { font-weight: 600; color: var(--on-accent); background: var(--accent); border: 1px solid transparent; cursor: pointer; }
.choice { display: flex; flex-direction: column; text-align: start; background: none; border: 1px solid var(--edge); cursor: pointer; }
.link { font: inherit; color: var(--link); background: none; border: 0; padding: 0.25rem 0; min-height: 1.5rem; text-align: start; text-decoration: underline; cursor: pointer; align-self: start; }
.link[aria-disabled="true"] { color: var(--soft); text-decoration: none; cursor: default; }
.card[aria-busy="true"] .button, .card[aria-busy="true"] .choice { cursor: progress; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.title:focus-visible { outline: none; }
.problem { color: var(--bad); }
.problem:empty { display: none; }
.qr { align-self: center; padding: 0.75rem; background: #fff; border-radius: var(--radius); color: #000; forced-color-adjust: none; }
.qr svg { display: block; width: 11rem; height: 11rem; }
.code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; color: inherit; }
.secret { text-align: center; }
.codes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(10.5rem, 100%), 1fr)); gap: 0.25rem 1rem; padding: 0; list-style: none; font-size: 0.875rem; }
`;

let sheet: CSSStyleSheet | undefined;

/** A constructed style sheet, which a Content-Security-Policy without inline styles allows. */
export function styles(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  return sheet;
}
