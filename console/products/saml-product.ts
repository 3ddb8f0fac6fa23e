/** Our values, for the fields of a product. */
interface SamlValues {
  /** Entity ID, and the address of the metadata. */
  entityId: string;
  ssoUrl: string;
  sloUrl: string;
  /** Address of the product, without a trailing slash. */
  address: string;
}

/** The data that a product needs to sign in by SAML. The console's form and server/docs/saml-products.md are made from it. */
export interface SamlProduct {
  /** Anchor of its section in the documentation. */
  id: string;
  name: string;
  /** Example of its address; in the texts below, `{address}`. Null: its metadata or its settings show the values, which differ for each customer. */
  address: string | null;
  entityId: string | null;
  acsUrls: readonly string[];
  /** Path of its metadata, which has the values above and its certificates. */
  metadata?: string;
  nameId: 'PERSISTENT' | 'EMAIL';
  logoutUri?: string;
  /** Attributes that it reads, with the claim to map. */
  attributes?: readonly (readonly [name: string, claim: string])[];
  /** Its settings. `…` stands for the certificate. */
  fields(values: SamlValues): readonly (readonly [label: string, value: string])[];
  /** Documentation that the values follow. */
  sources: readonly string[];
}

/** A text of a product with its address. */
export function atAddress(text: string, address: string): string {
  return text.replaceAll('{address}', address).replaceAll('{host}', address.replace(/^https?:\/\//, ''));
}
