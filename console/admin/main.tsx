import './first-requests.ts';
import './tokens.css';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import { queryClient } from './api.ts';
import { prefetchFrame } from './frame/prefetch-frame.ts';
import { language } from './language/language.ts';
import { routed, router } from './routes.tsx';
import { settings } from './settings.ts';
import { announceSignIn } from './sign-in-again.ts';
import { colorSchemeManager, theme, variables } from './theme.ts';

if (location.pathname === '/admin/signed-in') announceSignIn();
else void start();

async function start(): Promise<void> {
  document.documentElement.lang = language;
  // For the style element of the dialogs' scroll lock.
  setNonce(settings.nonce);
  // Render once the page and the account have loaded; until then the outline in the HTML stays.
  await Promise.all([prefetchFrame(), routed]);
  render();
}

function render(): void {
  createRoot(document.getElementById('root') as HTMLElement).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        colorSchemeManager={colorSchemeManager}
        defaultColorScheme="auto"
        getStyleNonce={() => settings.nonce}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
