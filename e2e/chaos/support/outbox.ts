import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { Person } from './person.ts';
import type { World } from './world.ts';

const [headerLength, tagLength] = [17, 16];

export interface StoredMessage {
  id: string;
  template: string;
  state: string;
  expired: boolean;
  attempts: number;
}

/** The table `messages`, read and filled without the server. */
export class Outbox {
  readonly #world: World;
  readonly #key: Buffer;

  constructor(world: World) {
    this.#world = world;
    this.#key = Buffer.from(hkdfSync('sha256', world.masterKey, Buffer.alloc(0), 'latchkey:seal:message', 32));
  }

  /** @param database default: that of the processes */
  all(database?: string): Promise<StoredMessage[]> {
    return this.#world.postgres.query('select id, template, state, expired, attempts from messages', database);
  }

  /** Signs a user in with a second device, which enqueues a code (in test mode) and a notice. */
  async notify(person: Person): Promise<void> {
    await new Person(person.app, person.email, person.base).signIn();
  }

  /**
   * Copies the newest pending notice. Contents are sealed for their row, in the format of the server's vault.
   * @param lane 1: of notices, 2: of invitations (`messageLanes`)
   * @returns their IDs
   */
  async copyNotice(count: number, lane = 1): Promise<string[]> {
    const { postgres } = this.#world;
    const [model] = await postgres.query<{ id: string; sealed_content: Buffer }>(
      `select id, sealed_content from messages
       where template = 'new-device' and sealed_content is not null order by created_at desc limit 1`,
    );
    if (!model) throw new Error('no notice to copy');
    const text = this.#open(model.id, model.sealed_content);
    const ids: string[] = [];
    for (let done = 0; done < count; done += 5_000) {
      const batch = Array.from({ length: Math.min(5_000, count - done) }, () => randomUUID());
      const rows = batch.map((id) => `('${id}'::uuid, '\\x${this.#seal(id, text).toString('hex')}'::bytea)`);
      await postgres.query(
        `insert into messages (project_id, id, channel, template, lane, recipient, sealed_content, locale, created_at,
           next_attempt_at, expires_at)
         select m.project_id, c.id, m.channel, m.template, ${lane}, m.recipient, c.sealed, m.locale, now(), now(),
           now() + interval '1 day'
         from messages m, (values ${rows.join(',')}) c (id, sealed) where m.id = '${model.id}'`,
      );
      ids.push(...batch);
    }
    return ids;
  }

  /** Makes every postponed attempt due now: an outage of hours passes in seconds. */
  async makeDue(): Promise<void> {
    await this.#world.postgres.query(
      `update messages set next_attempt_at = now() where state = 'pending' and note is not null and next_attempt_at > now()`,
    );
  }

  #open(id: string, sealed: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(5, headerLength));
    decipher.setAAD(Buffer.from(`message:${id}`));
    decipher.setAuthTag(sealed.subarray(-tagLength));
    return Buffer.concat([decipher.update(sealed.subarray(headerLength, -tagLength)), decipher.final()]);
  }

  #seal(id: string, text: Buffer): Buffer {
    const name = Buffer.from(hkdfSync('sha256', this.#world.masterKey, Buffer.alloc(0), 'latchkey:name', 32));
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(`message:${id}`));
    const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([Buffer.from([1]), name.subarray(0, 4), nonce, sealed, cipher.getAuthTag()]);
  }
}
