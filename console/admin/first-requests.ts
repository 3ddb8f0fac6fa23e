import { frameVariables } from './frame/frame-variables.ts';
// Not from operations.ts, whose modules run later.
import { Frame } from './generated/texts/frame.ts';
import { OverviewPage } from './generated/texts/overview.ts';
import { overviewVariables } from './overview/overview-variables.ts';
import { sendAhead } from './request.ts';

// The first module that runs: React and the other libraries take longer to start than the server takes to respond.
if (location.pathname !== '/admin/signed-in') {
  sendAhead({ query: Frame, variables: frameVariables() });
  const projectId = /^\/admin\/projects\/([^/]+)\/overview\/?$/.exec(location.pathname)?.[1];
  if (projectId !== undefined) {
    sendAhead({ query: OverviewPage, variables: overviewVariables(projectId) });
    // The router imports it again, and reports an error.
    import('./overview/overview-page.tsx').catch(() => undefined);
  }
}
