import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'RetiredMacKey',
  tableName: 'retired_mac_keys',
  properties: {
    /** The name of its master key, and the purpose. */
    id: p.text().primary(),
    purpose: p.text(),
    /** 32 bytes, sealed by the vault for this row. */
    sealedKey: p.blob(),
    createdAt: instant(),
  },
});

/**
 * The key of the keyed hashes of one purpose under a former master key. Hashes cannot be recomputed without their
 * input, so this key outlives the master key. It is derived only for this purpose and decrypts nothing.
 */
export class RetiredMacKey extends schema.class {}
schema.setClass(RetiredMacKey);
