"""The site: documentation, reference of Python and C, reports of the kept studies, notebooks."""
