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
    ]).flat();
    expect(new Set(paths.map(routeLabel)).size).toBeLessThan(6);
  });
});
