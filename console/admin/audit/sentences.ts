import { type EventGroup, type EventType, sentences } from '../generated/events.ts';
import { t } from '../language/language.ts';

export type { EventGroup };

export const groupNames: Record<EventGroup, string> = {
  'sign-in': t('Sign-in'),
  people: t('Users and groups'),
  applications: t('Applications'),
  directory: t('Directory'),
  administration: t('Administration'),
};

export const allTypes = Object.keys(sentences) as EventType[];

/** The sentence with its placeholders; undefined for an unknown type. */
export function templateOf(type: string): string | undefined {
  return sentences[type as EventType]?.[1];
}

/** The sentence of an event type with generic names: "Someone signed in". */
export function sentenceOf(type: string): string {
  const sentence = templateOf(type);
  if (sentence === undefined) return type;
  const text = sentence
    .replace(/^\{subject\}/, t('someone'))
    .replaceAll(/\{(?:actor|person)\}/g, t('someone'))
    .replaceAll(/\{\w+\}/g, '…');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Event types of a group, for filters. */
export function typesOf(group: EventGroup): EventType[] {
  return allTypes.filter((type) => sentences[type][0] === group);
}
