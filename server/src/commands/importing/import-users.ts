import { resolve } from 'node:path';
import type { Arrival } from '../../domain/accounts/arrivals/arrivals.ts';
import { isTakable } from '../../domain/credentials/former-passkeys.ts';
import { system } from '../../domain/kernel/actor.ts';
import { OperatorError, Refusal } from '../../domain/kernel/problem.ts';
import { inProject } from '../../domain/kernel/scope.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { type OpenedInstance, withInstance } from '../with-instance.ts';
import { addApplication, reasonOf, rolesOf } from './applications.ts';
import { csvColumns } from './other-systems.ts';
import type { FormerRecord, Person } from './person.ts';
import { applicationsOf, peopleOf, sources } from './sources.ts';

/** People in one transaction. */
const batchSize = 500;
/** People between two lines of progress. */
const progressSize = 50_000;

export const importUsers: Command = {
  name: 'import-users',
  summary: 'Adds the users of another system, from the files that it exports.',
  operands: ['<file or folder>'],
  options: {
    from: { type: 'string', value: 'system', description: `${Object.keys(sources).join(', ')}` },
    project: { type: 'string', value: 'id', description: 'the project that gets the users' },
    clients: {
      type: 'string',
      value: 'file',
      description: 'also adds applications: a Keycloak realm, or clients of the Management API of Auth0',
    },
    columns: { type: 'string', value: 'a=b,…', description: 'for CSV files: the column a of the file is b' },
    unverified: { type: 'boolean', description: 'also adds users whose address the former system has not verified' },
    'dry-run': { type: 'boolean', description: 'reads and checks everything, prints the result, and writes nothing' },
  },
  notes: [
    'Users keep their `sub`. One whom the project has already stays unchanged: an import can be repeated, and continues',
    'where it was interrupted. Passwords are not taken. Each user who is not added is printed with line, id and reason.',
    `Columns of CSV files: ${csvColumns.join(', ')}.`,
  ],
  run(input, context) {
    const path = resolve(input.operands[0] as string);
    const system = input.text('from') ?? '';
    const projectId = input.text('project') ?? '';
    if (!Object.hasOwn(sources, system))
      throw new UsageError(`--from must be one of ${Object.keys(sources).join(', ')}`);
    if (!isUuid(projectId)) throw new UsageError('--project must be the id of a project');
    const clients = input.text('clients');
    if (clients !== undefined && !sources[system]?.application) {
      throw new UsageError('--clients needs --from keycloak or --from auth0');
    }
    return withInstance(context, (opened) =>
      inProject(projectId, async () => {
        const importing = new Importing(opened, projectId, input, context);
        await importing.checkProject();
        if (clients !== undefined) await importing.applications(system, resolve(clients));
        await importing.people(peopleOf(system, path, columnsOf(input)));
        importing.report();
        return 0;
      }),
    );
  },
};

/** By the name in the file: the name of {@link csvColumns}. */
function columnsOf(input: Input): Map<string, string> {
  const pairs = (input.text('columns') ?? '').split(',').filter(Boolean);
  return new Map(
    pairs.map((pair) => {
      const [own = '', ours = ''] = pair.split('=').map((name) => name.trim());
      if (!csvColumns.some((name) => name === ours)) {
        throw new UsageError(`--columns: ${ours || pair} is not one of ${csvColumns.join(', ')}`);
      }
      return [own, ours];
    }),
  );
}

interface Output {
  print(line: string): void;
  log(line: string): void;
}

class Importing {
  private readonly counts = { read: 0, added: 0, known: 0, refused: 0, totp: 0, passkeys: 0 };
  /** Parts that were not taken, by reason. */
  private readonly left = new Map<string, number>();
  /** Ids of roles, by the former client and the key. */
  private readonly roles = new Map<string, string>();
  private readonly opened: OpenedInstance;
  private readonly projectId: string;
  private readonly dryRun: boolean;
  private readonly takesUnverified: boolean;
  private readonly out: Output;

  constructor(opened: OpenedInstance, projectId: string, input: Input, out: Output) {
    this.opened = opened;
    this.projectId = projectId;
    this.dryRun = input.flag('dry-run');
    this.takesUnverified = input.flag('unverified');
    this.out = out;
  }

  async checkProject(): Promise<void> {
    const { db, projects } = this.opened.services;
    const project = await projects.find(db.reader(), this.projectId);
    if (!project) throw new OperatorError(`There is no project ${this.projectId}.`);
  }

  async applications(system: string, path: string): Promise<void> {
    for (const application of await applicationsOf(system, path)) {
      const { id, name } = application;
      if (this.dryRun) {
        this.out.print(`application ${name}: ${id}, ${application.redirectUris.length} redirect URIs`);
        for (const key of application.roles) this.roles.set(`${id} ${key}`, key);
        continue;
      }
      try {
        const taken = await addApplication(this.opened.services, this.projectId, application);
        for (const [key, roleId] of await rolesOf(this.opened.services, taken)) this.roles.set(`${id} ${key}`, roleId);
        this.out.print(`application ${name}: ${id} is ${taken.client.id}${taken.isNew ? '' : ', which exists'}`);
        for (const reason of taken.left) this.out.log(`application ${name}: not taken: ${reason}`);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.out.log(`application ${name}: not added: ${reasonOf(error)}`);
      }
    }
  }

  async people(records: AsyncIterable<FormerRecord>): Promise<void> {
    let batch: (FormerRecord & { person: Person })[] = [];
    for await (const record of records) {
      if (!('person' in record)) {
        if ('skipped' in record) this.refuse(record, record.id, record.skipped);
        continue;
      }
      this.counts.read += 1;
      const reason = this.reasonAgainst(record.person);
      if (reason !== null) this.refuse(record, record.person.id, reason);
      else batch.push(record);
      if (batch.length === batchSize) {
        await this.put(batch);
        batch = [];
      }
      if (this.counts.read % progressSize === 0) this.out.log(`${this.counts.read} users read`);
    }
    await this.put(batch);
  }

  private async put(batch: readonly (FormerRecord & { person: Person })[]): Promise<void> {
    this.opened.interrupted.throwIfAborted();
    if (batch.length === 0) return;
    const arrivals = batch.map(({ person }) => this.arrivalOf(person));
    const options = { dryRun: this.dryRun, actor: system };
    const outcomes = await this.opened.services.arrivals.addMany(this.projectId, arrivals, options);
    for (const [at, outcome] of outcomes.entries()) {
      const record = batch[at] as FormerRecord & { person: Person };
      const { passkeys, totp } = arrivals[at] as Arrival;
      if ('userId' in outcome) {
        this.counts.added += 1;
        this.counts.passkeys += passkeys.length;
        if (totp !== undefined) this.counts.totp += 1;
        for (const reason of record.person.left) this.left.set(reason, (this.left.get(reason) ?? 0) + 1);
      } else if (outcome.isKnown) this.counts.known += 1;
      else this.refuse(record, record.person.id, reasonOf(new Refusal(outcome.refused)));
    }
  }

  /** Someone else could own an address that was not verified: then `sub` would be theirs at the first code. */
  private reasonAgainst({ email, isVerified, subject, userName }: Person): string | null {
    if (subject === '') return 'has no id';
    if (email === undefined && userName === undefined) return 'has no address and no user name';
    if (email !== undefined && !isVerified && !this.takesUnverified)
      return 'the address was not verified (--unverified)';
    return null;
  }

  /** A passkey or factor of someone whose address was not verified proves nothing about the owner of the mailbox. */
  private arrivalOf(person: Person): Arrival {
    const isTrusted = person.email === undefined || person.isVerified;
    const passkeys = isTrusted ? person.passkeys.filter(isTakable) : [];
    const totp = isTrusted ? person.totp : undefined;
    if (passkeys.length < person.passkeys.length)
      person.left.push(
        isTrusted ? 'passkey: of a key that passkeys here cannot have' : 'passkey: the address was not verified',
      );
    if (totp !== person.totp) person.left.push('TOTP: the address was not verified');
    const roles = person.roles.flatMap(({ client, key }) => this.roles.get(`${client} ${key}`) ?? []);
    if (roles.length < person.roles.length) person.left.push('role: of an application that was not added (--clients)');
    const {
      birthdate,
      displayName,
      email,
      familyName,
      givenName,
      isActive,
      locale,
      phone,
      subject,
      userName,
      zoneinfo,
    } = person;
    const user = {
      email,
      userName,
      displayName,
      givenName,
      familyName,
      phone,
      locale,
      zoneinfo,
      birthdate,
      subject,
      active: isActive,
    };
    return { user, groups: person.groups, roles, totp, passkeys };
  }

  private refuse({ file, line }: FormerRecord, id: string, reason: string): void {
    this.counts.refused += 1;
    this.out.log(`${file}:${line} ${id || 'a record'}: not added: ${reason}`);
  }

  report(): void {
    const { added, known, passkeys, read, refused, totp } = this.counts;
    this.out.print(
      `${read} users read: ${added} ${this.dryRun ? 'can be added' : 'added'}, ${known} exist, ${refused} not added.`,
    );
    this.out.print(`${passkeys} passkeys and ${totp} authenticator apps ${this.dryRun ? 'can be taken' : 'taken'}.`);
    for (const [reason, count] of this.left) this.out.print(`Not taken, ${count}: ${reason}`);
    if (this.dryRun) this.out.print('Nothing was written: --dry-run.');
  }
}
