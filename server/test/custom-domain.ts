import { txtReader } from '../src/adapters/dns/txt.ts';
import type { CustomDomain } from '../src/domain/domains/custom-domain.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { challengeName } from '../src/domain/projects/dns-proof.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import { buildTestApp, type TestApp } from './build-app.ts';
import { DnsServer } from './dns-server.ts';

/** An instance that uses a name server of this process. */
export class DomainWorld {
  private constructor(
    readonly app: TestApp,
    readonly dns: DnsServer,
  ) {}

  static async open(): Promise<DomainWorld> {
    const dns = await DnsServer.open();
    const app = await buildTestApp(undefined, { readTxt: txtReader({ servers: [dns.address] }) });
    return new DomainWorld(app, dns);
  }

  async close(): Promise<void> {
    await this.app.close();
    this.dns.close();
  }

  claim(project: Project, host: string): Promise<CustomDomain> {
    return this.app.services.domains.create(project.id, host, system);
  }

  /** Sets the TXT record of the claims' host, one value for each. */
  publish(...claims: CustomDomain[]): void {
    const [first] = claims;
    if (!first) throw new Error('no claim');
    this.dns.records.set(
      challengeName(first.host),
      claims.map(({ challenge }) => challenge),
    );
  }

  unpublish({ host }: Pick<CustomDomain, 'host'>): void {
    this.dns.records.delete(challengeName(host));
  }

  check({ project, id }: CustomDomain): Promise<CustomDomain> {
    return this.app.services.domains.check(keyIn(project.id, id), system);
  }

  /** A claim whose record has been found; `url` is its origin. */
  async verified(project: Project, host: string): Promise<{ domain: CustomDomain; url: string }> {
    const claim = await this.claim(project, host);
    this.publish(claim);
    const domain = await this.check(claim);
    return { domain, url: this.urlOf(host) };
  }

  urlOf(host: string): string {
    return `http://${host}:${new URL(this.app.url).port}`;
  }

  remove({ project, id }: CustomDomain): Promise<void> {
    return this.app.services.domains.remove(keyIn(project.id, id), system);
  }
}
