import { expect, it } from 'vitest';
import { routesOf } from '../src/app.ts';
import { routeLabel } from '../src/http/route-label.ts';
import { mountedRoutes } from './mounted-routes.ts';
import { SigninWorld } from './signin-world.ts';

const world = SigninWorld.ofTests();

it('every route of the application has a label of its own, or that of its folder, in metrics and traces', async () => {
  const routes = mountedRoutes(await routesOf(world.app.options));
  const templates = [...new Set(routes.map((route) => route.slice(route.indexOf(' ') + 1)))];
  expect(templates.length).toBeGreaterThan(70);
  /** With other values, so that no label contains one. */
  const labelOf = (template: string, value: string) => routeLabel(template.replace(/\{\*?\w+\}/g, value));
  const shape = (path: string) => path.replace(/\{\w+\}|:\w+/g, '{}');
  const wrong = templates.filter((template) => {
    const [label, other] = [labelOf(template, 'first-value'), labelOf(template, 'second-value')];
    if (label !== other || label === 'other' || label === '/v1/scim/other') return true;
    const isFolder = label.endsWith('/*') && template.startsWith(label.slice(0, -1));
    const isRoot = label.endsWith('/*') && template === label.slice(0, -2);
    return !isFolder && !isRoot && shape(label) !== shape(template) && label !== '/v1/signin/:step';
  });
  expect(wrong).toEqual([]);
});
