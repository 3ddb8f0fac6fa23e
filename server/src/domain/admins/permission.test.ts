import { describe, expect, it } from 'vitest';
import {
  allows,
  everything,
  type Grants,
  grantsOf,
  hasAny,
  intersection,
  mayGrant,
  nothing,
  roleIn,
} from './permission.ts';

const admin: Grants = { owner: false, projects: new Map([['a', 'project_admin']]), organizations: new Map() };
const viewer: Grants = { owner: false, projects: new Map([['a', 'project_viewer']]), organizations: new Map() };

describe('a role', () => {
  it('applies in its project only', () => {
    expect([allows(admin, 'project_admin', 'a'), allows(admin, 'project_viewer', 'a')]).toEqual([true, true]);
    expect([allows(admin, 'project_viewer', 'b'), allows(admin, 'owner', 'a')]).toEqual([false, false]);
    expect([allows(viewer, 'project_viewer', 'a'), allows(viewer, 'project_admin', 'a')]).toEqual([true, false]);
  });

  it('applies to the instance only as owner', () => {
    expect([admin, viewer, nothing].map((grants) => allows(grants, 'project_viewer', null))).toEqual([
      false,
      false,
      false,
    ]);
    expect(allows(everything, 'owner', null)).toBe(true);
    expect(roleIn(everything, 'anything')).toBe('owner');
  });

  it('cannot be granted by an admin with fewer rights', () => {
    expect([mayGrant(admin, 'project_admin', 'a'), mayGrant(admin, 'project_viewer', 'a')]).toEqual([true, true]);
    expect([
      mayGrant(admin, 'owner', null),
      mayGrant(admin, 'owner', 'a'),
      mayGrant(admin, 'project_viewer', 'b'),
    ]).toEqual([false, false, false]);
    expect(mayGrant(viewer, 'project_viewer', 'a')).toBe(false);
    expect([mayGrant(everything, 'owner', null), mayGrant(everything, 'project_admin', 'b')]).toEqual([true, true]);
    expect(mayGrant(admin, 'project_viewer', null)).toBe(false);
  });
});

describe('a token', () => {
  it('has the rights that both it and its creator have', () => {
    expect(intersection(everything, viewer)).toBe(viewer);
    expect(intersection(admin, everything)).toBe(admin);
    expect(intersection(admin, viewer).projects.get('a')).toBe('project_viewer');
    expect(intersection(viewer, admin).projects.get('a')).toBe('project_viewer');
    expect(intersection(admin, viewer).owner).toBe(false);
    expect(intersection(admin, nothing).projects.size).toBe(0);
    expect(intersection(everything, nothing)).toBe(nothing);
  });

  it('gets no rights from an inconsistent row', () => {
    expect(grantsOf([{ role: 'project_admin', projectId: null, organizationIds: null }])).toEqual(nothing);
  });
});

describe('an admin', () => {
  it('is an owner, or has a role in any project', () => {
    expect([everything, admin, viewer, nothing].map(hasAny)).toEqual([true, true, true, false]);
  });
});
