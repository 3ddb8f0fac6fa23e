import type { EntityClass } from '@mikro-orm/core';
import type { TransferTable } from './transfer.ts';

/**
 * The nouns of each layer of the domain. Each `*.nouns.ts` adds its own by declaration merging, so that lower layers
 * can name the nouns of higher ones (decisions/0346).
 */
// An interface, because only those merge.
export interface Nouns {}

type InEach<Layers, Layer extends keyof Layers = keyof Layers> = Layer extends Layer ? keyof Layers[Layer] : never;

/** Resources that a refusal can name. */
export type Noun = InEach<Nouns>;

/** Nouns with a table: operations of the admin API can be about a row. */
export type OwnedNoun = { [Layer in keyof Nouns]: OwnedIn<Nouns[Layer]> }[keyof Nouns];
type OwnedIn<Layer> = { [N in keyof Layer]: Layer[N] extends { table: string } ? N : never }[keyof Layer];

interface NounFacts {
  table?: string;
  /** The column of its project. Default: `project_id`. */
  project?: 'id';
  /** The column of the client that it is, or acts for. */
  client?: 'id' | 'client_id';
}

export interface OwnedFacts extends NounFacts {
  table: string;
}

/** The declaration of a layer's nouns and tables. Each part is a list of the whole server (`domain/nouns.ts`). */
export interface Declaration<UserTables = never> {
  nouns?: Readonly<Record<string, NounFacts>>;
  entities?: readonly EntityClass<unknown>[];
  /** Tables that are exported with their project, parents before children. */
  transfer?: readonly TransferTable[];
  /** Tables with rows of users (`users/user-tables.ts`). */
  userTables?: readonly UserTables[];
}
