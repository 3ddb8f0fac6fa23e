import type { Paths } from '../openapi/document.ts';
import { methods, type Route } from './route.ts';

/** The paths of the OpenAPI document of a table of routes. @param prefix e.g. `/p/:slug` */
export function describedPaths<About>(routes: readonly Route<never, About>[], about: About, prefix = ''): Paths {
  const paths: Paths = {};
  for (const route of routes) {
    if (route.offered?.about?.(about) === false) continue;
    for (const method of methods) {
      const operation = route.methods[method];
      if (!operation || typeof operation.openApi === 'string') continue;
      const path = templateOf(`${prefix}${route.path}`);
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation.openApi(about) };
    }
  }
  return paths;
}

/** A path of Express as OpenAPI writes it: `/Users/:id` is `/Users/{id}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
