import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'RetiredMacKey',
  tableName: 'retired_mac_keys',
  properties: {
    /** The name of the master key that it was derived from, and the purpose. */
    id: p.text().primary(),
    purpose: p.text(),
    /** 32 bytes, sealed by the vault for this row alone. */
    sealedKey: p.blob(),
    createdAt: instant(),
  },
});

/**
 * What keyed hashes of one purpose were made with under a master key that is gone. A hash cannot be made again without
 * what it was made of, so its key outlives the master key: derived for this purpose alone, it opens nothing.
 */
export class RetiredMacKey extends schema.class {}
schema.setClass(RetiredMacKey);
