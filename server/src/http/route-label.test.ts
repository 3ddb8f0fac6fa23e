import { describe, expect, it } from 'vitest';
import { routeLabel } from './route-label.ts';

describe('the route label in metrics and traces', () => {
  it.each([
    ['/oauth2/token', '/oauth2/token'],
    ['/v1/signin/verify-email-otp', '/v1/signin/:step'],
    ['/v1/scim/0197e5a0-0000-7000-8000-000000000000/Users', '/v1/scim/:project/Users'],
    ['/v1/scim/0197e5a0-0000-7000-8000-000000000000/Users/ada@example.com', '/v1/scim/:project/Users/:id'],
    ['/v1/scim/x/Users/.search', '/v1/scim/:project/Users/.search'],
    ['/v1/scim/x//Users//y', '/v1/scim/:project/Users/:id'],
    ['/v1/scim/x/Roles/editor', '/v1/scim/:project/Roles/:id'],
    ['/v1/scim/x/Nothing/a', '/v1/scim/other'],
    ['/p/acme/oauth2/revoke', '/p/:slug/oauth2/revoke'],
    ['/p/acme/oauth2/introspect', '/p/:slug/oauth2/introspect'],
    ['/p/acme/oauth2/par', '/p/:slug/oauth2/par'],
    ['/p/acme/oauth2/device_authorization', '/p/:slug/oauth2/device_authorization'],
    ['/p/acme/device', '/p/:slug/device'],
    ['/p/acme/nothing', 'other'],
    ['/device', '/device'],
    ['/status', '/status'],
    ['/sdk/browser.js', '/sdk/*'],
    ['/', '/'],
    ['/admin/users/0197e5a0', '/admin/*'],
    ['/assets/index-1234.js', '/assets/*'],
    ['/nothing/here', 'other'],
    ['/lk_sk_secret', 'other'],
  ])('%s is %s', (path, label) => {
    expect(routeLabel(path)).toBe(label);
  });

  it('is low-cardinality for arbitrary paths', () => {
    const paths = Array.from({ length: 1000 }, (_, index) => [
      `/v1/scim/${index}/Users/${index}`,
      `/admin/${index}`,
      `/${index}`,
      `/v1/signin/step-${index}`,
      `/v1/scim/${index}/${index}/${index}`,
      `/p/${index}/oauth2/token`,
      `/p/${index}/${index}`,
      `/sdk/${index}`,
    ]).flat();
    expect(new Set(paths.map(routeLabel)).size).toBeLessThan(8);
  });
});
