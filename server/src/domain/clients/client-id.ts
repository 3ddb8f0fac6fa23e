import type { Client } from './client.entity.ts';

/** `client_id` on the wire: the URL of its metadata document, else the UUID of its row. */
export function clientIdOf({ id, metadataUrl }: Pick<Client, 'id' | 'metadataUrl'>): string {
  return metadataUrl ?? id;
}

/** Whether a `client_id` is the URL of a metadata document; generated ids never begin so. */
export function isMetadataUrl(clientId: string): boolean {
  return clientId.startsWith('https://');
}
