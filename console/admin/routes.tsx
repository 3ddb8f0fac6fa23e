import { createBrowserRouter, Navigate, type RouteObject } from 'react-router';
import { Home } from './frame/home.tsx';
import { Missing, Root, RootError } from './frame/root.tsx';
import { ProjectPages } from './projects/project.tsx';

/** A page is fetched when somebody goes there; its script holds its `Component`. */
const page = (path: string, load: () => Promise<{ Component: () => React.ReactNode }>): RouteObject => ({
  path,
  lazy: load,
});

const inProject: RouteObject[] = [
  { index: true, element: <Navigate to="applications" replace /> },
  page('applications', () => import('./clients/clients-page.tsx')),
  page('applications/new', () => import('./clients/create-client-page.tsx')),
  page('applications/:clientId/:tab?', () => import('./clients/client-page.tsx')),
  { path: '*', element: <Missing /> },
];

export const router = createBrowserRouter(
  [
    {
      path: '/',
      element: <Root />,
      errorElement: <RootError />,
      hydrateFallbackElement: <span hidden />,
      children: [
        { index: true, element: <Home /> },
        page('projects', () => import('./projects/projects-page.tsx')),
        { path: 'projects/:projectId', element: <ProjectPages />, children: inProject },
        { path: '*', element: <Missing /> },
      ],
    },
  ],
  { basename: '/admin' },
);
