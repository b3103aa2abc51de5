"""The report of a study: one page that opens offline, the figures as SVG and PDF, the Dataset."""
