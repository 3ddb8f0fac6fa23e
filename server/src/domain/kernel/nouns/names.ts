/**
 * The nouns of each layer of the domain. Each `*.nouns.ts` adds its own by declaration merging, so that lower layers
 * can name the nouns of higher ones (decisions/0346).
 */
// An interface, because only those merge.
export interface Nouns {}

/** The types of audit events of each layer, added in the same way. */
export interface Events {}

/** The keys of each layer. */
export type InEach<Layers, Layer extends keyof Layers = keyof Layers> = Layer extends Layer
  ? keyof Layers[Layer]
  : never;

/** Resources that a refusal can name. */
export type Noun = InEach<Nouns>;

/** Nouns with a table: operations of the admin API can be about a row. */
export type OwnedNoun = { [Layer in keyof Nouns]: OwnedIn<Nouns[Layer]> }[keyof Nouns];
type OwnedIn<Layer> = { [N in keyof Layer]: Layer[N] extends { table: string } ? N : never }[keyof Layer];
