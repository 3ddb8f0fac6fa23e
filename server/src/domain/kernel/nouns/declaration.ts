import type { EntityClass } from '@mikro-orm/core';
import type { Fields } from '../resource.ts';
import type { TransferTable } from './transfer.ts';

interface NounFacts {
  table?: string;
  /** The column of its project. Default: `project_id`. */
  project?: 'id';
  /** The column of the organization that it is, or belongs to. Absent: it belongs to none. */
  organization?: 'id' | 'organization_id';
  /** The column of the client that it is, or acts for. */
  client?: 'id' | 'client_id';
}

export interface OwnedFacts extends NounFacts {
  table: string;
}

/** Filter of the console. */
type EventGroup = 'administration' | 'applications' | 'directory' | 'people' | 'sign-in';

/**
 * The filter and the English sentence of an audit event in the console. Placeholders are replaced with names: `{person}` is the
 * user of a device, passkey or session; others are values of the detail.
 */
type EventFacts = readonly [EventGroup, sentence: string];

/** The declaration of a layer's nouns and tables. Each part is a list of the whole server (`domain/nouns.ts`). */
export interface Declaration<UserTables = never> {
  nouns?: Readonly<Record<string, NounFacts>>;
  /** By type, `noun.verb` in the past tense. */
  events?: Readonly<Record<string, EventFacts>>;
  /** Declared settings of resources, by the resources' names in the admin API. */
  resources?: Readonly<Record<string, Fields>>;
  entities?: readonly EntityClass<unknown>[];
  /** Tables that are exported with their project, parents before children. */
  transfer?: readonly TransferTable[];
  /** Tables with rows of users (`users/user-tables.ts`). */
  userTables?: readonly UserTables[];
}
