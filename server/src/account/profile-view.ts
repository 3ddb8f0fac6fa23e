import type { OwnField, OwnProfile } from '../domain/accounts/own/own-profile.ts';
import { locales } from '../domain/delivery/locale.ts';
import type { ShownCustomValue } from '../domain/users/custom/own-values.ts';
import type { PostalAddress } from '../domain/users/edits/profile-edit.ts';
import { type Html, hidden, html, nothing } from '../http/markup.ts';

/** Looks up a text of `account.*`, or another one by its full key, in the reader's language. */
export type Translate = (key: string, values?: Record<string, string>) => string;

/** The parts of the account page that the section uses. */
export interface ProfileParts {
  t: Translate;
  /** @param attributes HTML attributes of the form */
  form(change: string, content: Html, attributes?: Html): Html;
  /** @param accessibleName for screen readers: several parts have the same label */
  button(label: string, accessibleName?: string): Html;
  fold(label: string, accessibleName: string, content: Html): Html;
  /** Asks for a fresh sign-in. @param section to return to */
  stale(section: string): Html;
  /** The button of {@link stale}. */
  confirmation(section: string): Html;
}

interface Input {
  field: string;
  label: string;
  value: string | null | undefined;
  /** HTML attributes. */
  more?: Html;
  hint?: string;
}

/** The user's own profile: the stored values, and a form for each editable part. */
export function profileSection(parts: ProfileParts, profile: OwnProfile, isFresh: boolean): Html {
  const { t } = parts;
  const { locked } = profile;
  const isOpen = (...fields: OwnField[]) => fields.some((field) => !locked.has(field));
  const groups = [
    {
      title: t('profileNames'),
      facts: [profile.displayName, names(profile), profile.locale, profile.zoneinfo],
      form: isOpen('displayName', 'givenName', 'familyName', 'locale', 'zoneinfo') ? namesForm(parts, profile) : null,
    },
    {
      title: t('birthdate'),
      facts: [profile.birthdate],
      form: isOpen('birthdate')
        ? sensitive(parts, isFresh, {
            title: t('birthdate'),
            change: 'edit-birthdate',
            inputs: birthdateInput(t, profile),
          })
        : null,
    },
    {
      title: t('postalAddress'),
      facts: addressLines(profile.address),
      form: isOpen('address')
        ? sensitive(parts, isFresh, {
            title: t('postalAddress'),
            change: 'edit-address',
            inputs: addressInputs(t, profile.address),
          })
        : null,
    },
    ...(profile.custom.length > 0
      ? [{ title: t('profileCustom'), facts: profile.custom.map((value) => customFact(t, value)), form: null }]
      : []),
  ];
  return html`<section aria-labelledby="profile"><h2 id="profile">${t('profile')}</h2>
    <p class="hint">${t('profileText')}${profile.locked.size > 0 ? html` ${t('profileLocked')}` : nothing}</p>
    <ul class="rows">${groups.map(({ title, facts, form }) => row(t, title, facts, form))}</ul></section>`;
}

function row(t: Translate, title: string, facts: readonly (string | null | undefined)[], form: Html | null): Html {
  const known = facts.filter((fact) => fact != null && fact !== '') as string[];
  const shown = known.length > 0 ? known : [t('profileNone')];
  return html`<li class="row"><h3>${title}</h3>
    <p class="facts">${shown.map((fact) => html`<span>${fact}</span> `)}</p>
    ${form ? html`<div class="acts">${form}</div>` : nothing}</li>`;
}

/** A custom attribute by its description, or its name. */
function customFact(t: Translate, { attribute, value }: ShownCustomValue): string {
  return t('profileCustomValue', { name: attribute.description || attribute.name, value: valueText(t, value) });
}

function valueText(t: Translate, value: unknown): string {
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (Array.isArray(value)) return value.map((each) => valueText(t, each)).join('; ');
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([name, part]) => `${name} ${valueText(t, part)}`);
  return parts.join(', ');
}

function names({ givenName, familyName }: OwnProfile): string {
  return [givenName, familyName].filter(Boolean).join(' ');
}

function namesForm(parts: ProfileParts, profile: OwnProfile): Html {
  const { t, form } = parts;
  const all: (Input & { field: OwnField })[] = [
    { field: 'displayName', label: t('displayName'), value: profile.displayName, more: completes('name') },
    { field: 'givenName', label: t('givenName'), value: profile.givenName, more: completes('given-name') },
    { field: 'familyName', label: t('familyName'), value: profile.familyName, more: completes('family-name') },
    {
      field: 'locale',
      label: t('locale'),
      value: profile.locale,
      hint: t('localeHint'),
      more: listed('profile-languages'),
    },
    {
      field: 'zoneinfo',
      label: t('zoneinfo'),
      value: profile.zoneinfo,
      hint: t('zoneinfoHint'),
      more: listed('profile-zones'),
    },
  ];
  const open = all.filter(({ field }) => !profile.locked.has(field));
  const named = hidden({ fields: open.map(({ field }) => field).join(' ') });
  return editing(
    parts,
    t('profileNames'),
    form('edit-profile', html`${named}${open.map(input)}${languageOptions}${saving(parts, t('profileNames'))}`),
  );
}

/** A form that needs a fresh sign-in; without one, a link to it. */
function sensitive(parts: ProfileParts, isFresh: boolean, { title, change, inputs }: SensitivePart): Html {
  const asking = isFresh ? parts.form(change, html`${inputs}${saving(parts, title)}`) : parts.stale('profile');
  return editing(parts, title, asking);
}

function editing({ t, fold }: ProfileParts, title: string, content: Html): Html {
  return fold(t('profileEdit'), t('about', { act: t('profileEdit'), name: title }), content);
}

function saving({ t, button }: ProfileParts, title: string): Html {
  return button(t('save'), t('about', { act: t('save'), name: title }));
}

interface SensitivePart {
  title: string;
  /** The field `change` of its form. */
  change: string;
  inputs: Html;
}

function birthdateInput(t: Translate, { birthdate }: OwnProfile): Html {
  const more = html` type="date" autocomplete="bday"`;
  return html`${hidden({ fields: 'birthdate' })}${input({ field: 'birthdate', label: t('birthdate'), value: birthdate, more })}`;
}

function addressInputs(t: Translate, address: PostalAddress | null): Html {
  const all: Input[] = [
    { field: 'streetAddress', label: t('street'), value: address?.streetAddress, more: completes('street-address') },
    { field: 'postalCode', label: t('postalCode'), value: address?.postalCode, more: completes('postal-code') },
    { field: 'locality', label: t('locality'), value: address?.locality, more: completes('address-level2') },
    { field: 'region', label: t('region'), value: address?.region, more: completes('address-level1') },
    {
      field: 'country',
      label: t('country'),
      value: address?.country,
      more: html` autocomplete="country" maxlength="2" pattern="[A-Za-z][A-Za-z]"`,
      hint: t('countryHint'),
    },
  ];
  return html`${all.map(input)}`;
}

function addressLines(address: PostalAddress | null): (string | null | undefined)[] {
  if (!address) return [];
  const { streetAddress, postalCode, locality, region, country, formatted } = address;
  const parts = [streetAddress, [postalCode, locality].filter(Boolean).join(' '), region, country];
  return parts.some(Boolean) ? parts : [formatted];
}

function listed(id: string): Html {
  return html` autocomplete="off" maxlength="100" list="${id}"`;
}

/** The languages of the pages, by their own names. The page's script adds the time zones, of which there are hundreds. */
const languageOptions = html`<datalist id="profile-languages">${locales.map(
  (tag) => html`<option value="${tag}">${new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag}</option>`,
)}</datalist><datalist id="profile-zones"></datalist>`;

function completes(kind: string): Html {
  return html` autocomplete="${kind}" maxlength="256"`;
}

function input({ field, label, value, more = html` autocomplete="off" maxlength="100"`, hint }: Input): Html {
  const id = `profile-${field}`;
  const described = hint === undefined ? nothing : html` aria-describedby="${id}-hint"`;
  return html`<label for="${id}">${label}</label>
    <input id="${id}" name="${field}" value="${value ?? ''}"${more}${described}>
    ${hint === undefined ? nothing : html`<p class="hint" id="${id}-hint">${hint}</p>`}`;
}
