/** oidc-provider in memory: a restart loses its data. */
import { serve } from './oidc-provider-served.mjs';

/**
 * In-memory adapter. The built-in one keeps a thousand entries and drops sessions; this one keeps all sessions and
 * grants, and the newest ten thousand codes and tokens.
 */
class Memory {
  static kept = new Map();
  static uids = new Map();

  constructor(name) {
    this.name = name;
    if (!Memory.kept.has(name)) Memory.kept.set(name, new Map());
    this.entries = Memory.kept.get(name);
  }

  async upsert(id, payload) {
    this.entries.set(id, payload);
    if (this.name === 'Session') Memory.uids.set(payload.uid, id);
    else if (this.name !== 'Grant' && this.entries.size > 10_000) this.entries.delete(this.entries.keys().next().value);
  }

  async find(id) {
    return this.entries.get(id);
  }

  async findByUid(uid) {
    return this.entries.get(Memory.uids.get(uid));
  }

  async consume(id) {
    this.entries.get(id).consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id) {
    this.entries.delete(id);
  }

  async revokeByGrantId() {}
}

await serve(Memory);
