import { Html, hidden, html } from '../http/markup.ts';
import type { PortalKey } from './texts/en.ts';
import type { PortalLanguage } from './texts.ts';

/** The reader's texts. */
export interface Reader {
  language: PortalLanguage;
  t(key: PortalKey, values?: Record<string, string>): string;
  /** A time, in UTC. */
  at(time: Date): string;
}

/** A form of the portal's page. @param section the part of the page that its answer shows first */
export function form(fields: Record<string, string>, content: Html, section = ''): Html {
  return html`<form method="post" action="/portal${section && `#${section}`}">${hidden(fields)}${content}</form>`;
}

/** A form of one button. It goes to the address of the page. @param accessibleName default: the label */
export function post(label: string, fields: Record<string, string>, look: string, accessibleName = label): Html {
  return html`<form method="post">${hidden(fields)}
    <button type="submit" class="${look}" aria-label="${accessibleName}">${label}</button></form>`;
}

/** @param attributes trusted */
export function field(name: string, label: string, value: string, attributes: string): Html {
  return html`<label for="${name}">${label}</label>
    <input id="${name}" name="${name}" value="${value}" dir="ltr" autocomplete="off" autocapitalize="none" spellcheck="false" ${new Html(attributes)}>`;
}

/** A value to copy. */
export function readonlyField(id: string, label: string, value: string): Html {
  return html`<label for="${id}">${label}</label><input id="${id}" value="${value}" dir="ltr" readonly>`;
}
