#!/bin/sh
# In the image: `latchkey` serves, `latchkey <command>` runs the same as `npm run <command>` in a checkout.
exec node --max-semi-space-size=4 --heap-growing-percent=40 /app/server/dist/main.js "$@"
